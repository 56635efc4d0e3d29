"""The epoch that losses are told of: ImageNet's."""
IMAGES = 1_281_167      # the training set of ILSVRC 2012
EPOCHS = 90
